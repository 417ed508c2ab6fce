import { resolve } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EXIT } from '../../catalog/failures.ts';
import { text } from '../../catalog/fields/text.ts';
import { type Fields, readOnly } from '../../catalog/record.ts';
import { Failure } from '../../core/failure.ts';
import { configPath, readConfig } from '../../core/profiles/config.ts';
import { CONFIG_KEYS, type ConfigKey, configKey, configValue, withValue } from '../../core/profiles/defaults.ts';
import { changeConfig } from '../../core/profiles/store.ts';
import { nearest } from '../errors/nearest.ts';
import { outputFlags } from '../flags/output.ts';
import { lockOwner } from '../lockowner.ts';
import { MolarCommand } from '../molarcommand.ts';
import { singlePage, writeRows } from '../rows/output.ts';
import { planRows } from '../rows/plan.ts';

const quiet = { quiet: Flags.boolean({ summary: 'Print no notes' }) };
const key = Args.string({
  required: true,
  ignoreStdin: true,
  description: `One of ${CONFIG_KEYS.map((known) => known.key).join(', ')}`,
});

export const configFlags = quiet;
export const configListFlags = { ...outputFlags, ...quiet };
export const configArguments = { key };
export const configSetArguments = {
  key,
  value: Args.string({ required: true, ignoreStdin: true, description: 'The new default' }),
};

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
export abstract class ConfigListCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { context } = this;
    const plan = planRows(flags, FIELDS, Object.keys(FIELDS), context.streams.stdout.isTTY);
    const config = readConfig(configPath(context.env));
    const rows = CONFIG_KEYS.map((known) => {
      return { key: known.key, value: configValue(config, known) ?? null, about: known.about };
    });
    const open = async () => singlePage(rows);
    await writeRows({ context, flags, plan, one: 'key', many: 'keys', open, note: (line) => this.note(line) });
  }
}

/** Prints one value; exit 4 when it is not set. */
export abstract class ConfigGetCommand extends MolarCommand {
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

export abstract class ConfigSetCommand extends MolarCommand {
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

export abstract class ConfigUnsetCommand extends MolarCommand {
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
export abstract class ConfigPathCommand extends MolarCommand {
  override async run(): Promise<void> {
    await this.input();
    await this.print(`${configPath(this.context.env)}\n`);
  }
}
