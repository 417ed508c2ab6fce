import { resolve } from 'node:path';
import * as Args from '@oclif/core/args';
import type { ArgInput } from '@oclif/core/interfaces';
import { EXIT } from '../../catalog/failures.ts';
import type { Fields } from '../../catalog/fields/kind.ts';
import { text } from '../../catalog/fields/text.ts';
import { readOnly } from '../../catalog/record.ts';
import { Failure } from '../../core/failure.ts';
import { nearest } from '../../core/nearest.ts';
import type { Row } from '../../core/pages/page.ts';
import { configPath, readConfig, type StoredConfig } from '../../core/profiles/config.ts';
import { CONFIG_KEYS, type ConfigKey, configKey, configValue, withValue } from '../../core/profiles/defaults.ts';
import { changeConfig } from '../../core/profiles/store.ts';
import { MolarCommand } from '../molarcommand.ts';
import { lockOwner } from '../process/lockowner.ts';
import { quietFlag, StoredListCommand } from './profilecommands.ts';

const key = Args.string({
  required: true,
  ignoreStdin: true,
  description: `One of ${CONFIG_KEYS.map((known) => known.key).join(', ')}`,
});

const FIELDS: Fields = {
  key: readOnly(text(), 'Key'),
  value: readOnly(text(), 'Value; empty where it is not set'),
  about: readOnly(text(), 'What it is for'),
};

/** The key of that name; throws a Failure (exit 2) that lists the known ones and says which is nearest. */
function keyNamed(name: string): ConfigKey {
  const near = nearest(
    name,
    CONFIG_KEYS.map((known) => known.key),
  );
  return configKey(name, near === undefined ? undefined : `Did you mean ${near}? molar config list shows them all.`);
}

/** Lists every key with its value. */
export abstract class ConfigListCommand extends StoredListCommand {
  protected override readonly fields = FIELDS;
  protected override readonly one = 'key';

  protected override rows(config: StoredConfig): readonly Row[] {
    return CONFIG_KEYS.map((known) => {
      return { key: known.key, value: configValue(config, known) ?? null, about: known.about };
    });
  }
}

/** A command on one key of the config file, or on the file. */
abstract class ConfigCommand extends MolarCommand {
  static override args: ArgInput = { key };
  static override flags = quietFlag;
}

/** Prints one value; exit 4 when it is not set. */
export abstract class ConfigGetCommand extends ConfigCommand {
  override async run(): Promise<void> {
    const { args } = await this.input();
    const known = keyNamed(String(args.key));
    const value = configValue(readConfig(configPath(this.context.env)), known);
    if (value === undefined) {
      throw new Failure(`${known.key} is not set.`, {
        code: 'config.unset',
        exitCode: EXIT.notFound,
        hint: `Set it with molar config set ${known.key} VALUE.`,
      });
    }
    await this.print(`${value}\n`);
  }
}

/** Sets a key; a path becomes absolute. */
export abstract class ConfigSetCommand extends ConfigCommand {
  static override args: ArgInput = {
    key,
    value: Args.string({ required: true, ignoreStdin: true, description: 'The new default' }),
  };

  override async run(): Promise<void> {
    const { args } = await this.input();
    const known = keyNamed(String(args.key));
    const given = String(args.value);
    // The path must mean the same file from every folder.
    const value = known.key === 'caCert' && given.trim() !== '' ? resolve(given) : given;
    const path = configPath(this.context.env);
    withValue(readConfig(path), known, value);
    await changeConfig(path, (config) => withValue(config, known, value), lockOwner(this.context.clock));
    await this.note(`${known.key} is ${value} from now on.`);
  }
}

/** Removes a key. */
export abstract class ConfigUnsetCommand extends ConfigCommand {
  override async run(): Promise<void> {
    const { args } = await this.input();
    const known = keyNamed(String(args.key));
    const path = configPath(this.context.env);
    if (configValue(readConfig(path), known) !== undefined) {
      await changeConfig(path, (config) => withValue(config, known, undefined), lockOwner(this.context.clock));
    }
    await this.note(`${known.key} is not set.`);
  }
}

/** Prints where the config file is, whether it exists or not. */
export abstract class ConfigPathCommand extends ConfigCommand {
  static override args = {};

  override async run(): Promise<void> {
    await this.input();
    await this.print(`${configPath(this.context.env)}\n`);
  }
}
