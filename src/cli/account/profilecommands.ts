import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import type { Fields } from '../../catalog/fields/kind.ts';
import { text } from '../../catalog/fields/text.ts';
import { readOnly } from '../../catalog/record.ts';
import { localFailure } from '../../core/failure.ts';
import type { Row } from '../../core/pages/page.ts';
import {
  configPath,
  kindOfSecret,
  type Profile,
  type ProfileSecret,
  profileNamed,
  readConfig,
  type StoredConfig,
  secretLocation,
} from '../../core/profiles/config.ts';
import { changeConfig } from '../../core/profiles/store.ts';
import { profileSecrets } from '../connections.ts';
import { outputFlags } from '../flags/output.ts';
import { textFlag } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { lockOwner } from '../process/lockowner.ts';
import { singlePage, writeRows } from '../rows/output.ts';
import { planRows } from '../rows/plan.ts';
import { leftNote } from './loginreport.ts';

/** `--quiet` of commands that send no requests. */
export const quietFlag = { quiet: Flags.boolean({ summary: 'Print no notes' }) };

const nameArgument = { name: Args.string({ required: true, ignoreStdin: true, description: 'Profile' }) };

/** A table of what is stored on this computer. */
export abstract class StoredListCommand extends MolarCommand {
  static override flags: FlagInput = { ...outputFlags, ...quietFlag };
  protected abstract readonly fields: Fields;
  /** What one row is called; several with an s. */
  protected abstract readonly one: string;
  /** The note where there are no rows. */
  protected readonly none: string | undefined;

  protected abstract rows(config: StoredConfig): readonly Row[];

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { context, fields, one, none } = this;
    const plan = planRows(flags, fields, Object.keys(fields), context.streams.stdout.isTTY);
    const rows = this.rows(readConfig(configPath(context.env)));
    const many = `${one}s`;
    const note = (text: string) => this.note(none !== undefined && text === `No ${many} match.` ? none : text);
    await writeRows({ context, flags, plan, one, many, open: async () => singlePage(rows), note });
  }
}

const FIELDS: Fields = {
  name: readOnly(text(), 'Name'),
  use: readOnly(text(), 'yes for the one in use'),
  url: readOnly(text(), 'Address before /api/v1'),
  organization: readOnly(text(), 'Organization id'),
  kept: readOnly(text(), 'What is stored: token, client (id and secret), or command'),
  where: readOnly(text(), 'Where the secret is: keyring, file; empty for a command'),
};

/** Lists the profiles, without their secrets. */
export abstract class ProfileListCommand extends StoredListCommand {
  protected override readonly fields = FIELDS;
  protected override readonly one = 'profile';
  protected override readonly none = 'There are no profiles yet; molar login makes one.';

  protected override rows({ profiles, profile }: StoredConfig): readonly Row[] {
    const current = this.context.env.MOLAR_PROFILE || profile;
    return Object.entries(profiles).map(([name, { url, organization, secret }]) => {
      const about = { kept: kindOfSecret(secret), where: secretLocation(secret) ?? null };
      return { name, use: name === current ? 'yes' : 'no', url, organization, ...about };
    });
  }
}

/** A command on one profile of the config file. */
abstract class ProfileCommand extends MolarCommand {
  static override flags: FlagInput = quietFlag;

  protected profileOf(name: string, source: string): Profile {
    return profileNamed(readConfig(configPath(this.context.env)), name, source);
  }

  protected async remove(name: string, source: string): Promise<void> {
    const path = configPath(this.context.env);
    const { secret } = this.profileOf(name, source);
    const inUse = readConfig(path).profile === name;
    const left = await profileSecrets(this.context).deleteProfile(path, name);
    await this.note(removedNote(name, secret, path, left));
    if (left !== undefined) await this.note(leftNote(left));
    const others = Object.keys(readConfig(path).profiles);
    if (inUse && others.length > 0) {
      await this.note(`No profile is in use now; choose one with molar profiles use: ${others.join(', ')}.`);
    }
  }
}

function removedNote(name: string, secret: ProfileSecret, path: string, left: string | undefined): string {
  if (secret.kind === 'command' || left !== undefined) return `Removed profile ${name} from ${path}.`;
  if (secret.kind === 'keyring') return `Removed profile ${name} from ${path}, and its secret from the keyring.`;
  return `Removed profile ${name} and its secret from ${path}.`;
}

/** Puts a profile in use. */
export abstract class ProfileUseCommand extends ProfileCommand {
  static override args = nameArgument;

  override async run(): Promise<void> {
    const { args } = await this.input();
    const name = String(args.name);
    const { url, organization } = this.profileOf(name, 'NAME');
    const { env, clock } = this.context;
    await changeConfig(configPath(env), (config) => ({ ...config, profile: name }), lockOwner(clock));
    await this.note(`Profile ${name} is in use: ${url}, organization ${organization}.`);
    const { MOLAR_PROFILE: other } = env;
    if (other && other !== name) await this.note(`Warning: MOLAR_PROFILE is set and names ${other} instead.`);
  }
}

/** Removes the profile of a name. */
export abstract class ProfileRemoveCommand extends ProfileCommand {
  static override args = nameArgument;

  override async run(): Promise<void> {
    const { args } = await this.input();
    await this.remove(String(args.name), 'NAME');
  }
}

/** Removes the profile in use, or the one named. */
export abstract class LogoutCommand extends ProfileCommand {
  static override flags: FlagInput = {
    profile: Flags.string({ helpValue: 'NAME', summary: 'Profile to remove; the one in use when not given' }),
    ...quietFlag,
  };

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { env } = this.context;
    const path = configPath(env);
    const name = textFlag(flags, 'profile') ?? (env.MOLAR_PROFILE || readConfig(path).profile);
    if (name === undefined) {
      throw localFailure('usage.connection', 'You are not logged in: no profile is in use.', {
        source: '--profile',
        hint:
          Object.keys(readConfig(path).profiles).length === 0
            ? 'There is nothing to do: there are no profiles. molar login makes one.'
            : 'molar profiles list shows the profiles; name one with --profile.',
      });
    }
    await this.remove(name, '--profile');
    const left = ['MOLAR_TOKEN', 'MOLAR_CLIENT_SECRET'].filter((variable) => env[variable]);
    if (left.length > 0) await this.note(`${left.join(' and ')} in the environment still work.`);
    await this.note('The token itself stays valid until it expires or is revoked on the server.');
  }
}
