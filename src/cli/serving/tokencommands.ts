import { isOn } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { idArgument, listed, rightsFlags, rightsRequest, rotationFlags, termCells } from './credentialflags.ts';
import { type DataFolder, dataFlags, jsonArrayFlag, jsonFlag, ServerCommand } from './servercommand.ts';

const admin = () => import('../../server/tokens/admin.ts');

/** `molar server tokens create`: prints a new token, the only time that it can be seen. */
export abstract class TokenCreateCommand extends ServerCommand {
  static override flags = rightsFlags;
  protected override readonly createsFolder = true;

  protected override async work({ service }: DataFolder, { flags }: CommandInput): Promise<string> {
    const created = await (await admin()).createToken(service, rightsRequest(flags));
    return isOn(flags, 'json') ? `${JSON.stringify(created)}\n` : `${created.token}\n`;
  }
}

/** `molar server tokens list`. */
export abstract class TokenListCommand extends ServerCommand {
  static override flags = { ...dataFlags, ...jsonArrayFlag };

  protected override async work({ service }: DataFolder, { flags }: CommandInput): Promise<string> {
    const { listTokens } = await import('../../server/tokens/tokens.ts');
    return listed(flags, await listTokens(service.store.read), {
      none: 'There are no tokens.',
      cellsOf: (token) => [token.id, ...termCells(token)],
    });
  }
}

/** `molar server tokens rotate`: prints a token that takes the place of another one. */
export abstract class TokenRotateCommand extends ServerCommand {
  static override args = idArgument('server tokens list');
  static override flags = rotationFlags;

  protected override async work({ service }: DataFolder, { args, flags }: CommandInput): Promise<string> {
    const { rotateToken } = await admin();
    const made = await rotateToken(service, String(args.id), String(flags.overlap));
    return isOn(flags, 'json') ? `${JSON.stringify(made)}\n` : `${made.token}\n`;
  }
}

/** `molar server tokens revoke`. */
export abstract class TokenRevokeCommand extends ServerCommand {
  static override args = idArgument('server tokens list');
  static override flags = { ...dataFlags, ...jsonFlag };

  protected override async work({ service }: DataFolder, { args, flags }: CommandInput): Promise<string> {
    const id = String(args.id);
    await (await admin()).revoke(service, id);
    return isOn(flags, 'json') ? `${JSON.stringify({ id, revoked: true })}\n` : `Token ${id} is revoked.\n`;
  }
}
