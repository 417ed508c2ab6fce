import * as Args from '@oclif/core/args';
import { SCOPES } from '../../catalog/scopes.ts';
import { flagGroup } from '../flags/declare.ts';
import { isOn, textFlag, textFlags } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { type DataFolder, dataFlags, jsonFlag, ServerCommand } from './servercommand.ts';

const { list, text, toggle } = flagGroup();

const admin = () => import('../../server/tokens/admin.ts');

/** `molar server tokens create`: prints a new token, the only time that it can be seen. */
export abstract class TokenCreateCommand extends ServerCommand {
  static override flags = {
    ...dataFlags,
    for: list('ORGANIZATION', 'Organization the token is for; may be repeated', { required: true }),
    scope: list(undefined, 'What the token allows, model:read when not given; may be repeated', { options: SCOPES }),
    expires: text('TIME', 'Date or date-time when it stops working; never when not given'),
    label: text('TEXT', 'A name to recognize it by'),
    ...jsonFlag,
  };
  protected override readonly createsFolder = true;

  protected override async work({ service }: DataFolder, { flags }: CommandInput): Promise<string> {
    const { createToken } = await admin();
    const scopes = textFlags(flags, 'scope');
    const created = await createToken(service, {
      organizations: textFlags(flags, 'for'),
      scopes: scopes.length > 0 ? scopes : ['model:read'],
      expires: textFlag(flags, 'expires'),
      label: textFlag(flags, 'label'),
    });
    return isOn(flags, 'json') ? `${JSON.stringify(created)}\n` : `${created.token}\n`;
  }
}

/** `molar server tokens list`. */
export abstract class TokenListCommand extends ServerCommand {
  static override flags = { ...dataFlags, json: toggle('Print a JSON array') };

  protected override async work({ service }: DataFolder, { flags }: CommandInput): Promise<string> {
    const [{ listGrants }, { tokenText }] = await Promise.all([import('../../server/tokens/tokens.ts'), admin()]);
    const rows = await listGrants(service.store.read);
    return isOn(flags, 'json') ? `${JSON.stringify(rows)}\n` : tokenText(rows);
  }
}

/** `molar server tokens revoke`. */
export abstract class TokenRevokeCommand extends ServerCommand {
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'Id that "server tokens list" shows' }),
  };
  static override flags = { ...dataFlags, ...jsonFlag };

  protected override async work({ service }: DataFolder, { args, flags }: CommandInput): Promise<string> {
    const { revoke } = await admin();
    const id = String(args.id);
    await revoke(service, id);
    return isOn(flags, 'json') ? `${JSON.stringify({ id, revoked: true })}\n` : `Token ${id} is revoked.\n`;
  }
}
