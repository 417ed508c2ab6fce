import { isOn } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { idArgument, listed, rightsFlags, rightsRequest, rotationFlags, termCells } from './credentialflags.ts';
import { type DataFolder, dataFlags, jsonArrayFlag, jsonFlag, ServerCommand } from './servercommand.ts';

const admin = () => import('../../server/tokens/clientadmin.ts');

/** `molar server clients create`: prints id and secret of a new client, the only time that the secret can be seen. */
export abstract class ClientCreateCommand extends ServerCommand {
  static override flags = rightsFlags;
  protected override readonly createsFolder = true;

  protected override async work({ service }: DataFolder, { flags }: CommandInput): Promise<string> {
    const created = await (await admin()).createClient(service, rightsRequest(flags));
    return isOn(flags, 'json') ? `${JSON.stringify(created)}\n` : secretText(created);
  }
}

/** `molar server clients list`. */
export abstract class ClientListCommand extends ServerCommand {
  static override flags = { ...dataFlags, ...jsonArrayFlag };

  protected override async work({ service }: DataFolder, { flags }: CommandInput): Promise<string> {
    const { listClients } = await import('../../server/tokens/clients.ts');
    return listed(flags, await listClients(service.store.read), {
      none: 'There are no clients.',
      cellsOf: (client) => [client.clientId, ...termCells(client)],
    });
  }
}

/** `molar server clients rotate`: prints a secret that takes the place of the earlier one. */
export abstract class ClientRotateCommand extends ServerCommand {
  static override args = idArgument('server clients list');
  static override flags = rotationFlags;

  protected override async work({ service }: DataFolder, { args, flags }: CommandInput): Promise<string> {
    const { rotateClient } = await admin();
    const made = await rotateClient(service, String(args.id), String(flags.overlap));
    return isOn(flags, 'json') ? `${JSON.stringify(made)}\n` : secretText(made);
  }
}

/** `molar server clients revoke`. */
export abstract class ClientRevokeCommand extends ServerCommand {
  static override args = idArgument('server clients list');
  static override flags = { ...dataFlags, ...jsonFlag };

  protected override async work({ service }: DataFolder, { args, flags }: CommandInput): Promise<string> {
    const clientId = String(args.id);
    await (await admin()).revokeClient(service, clientId);
    const text = `Client ${clientId} is revoked, with every token that it was given.\n`;
    return isOn(flags, 'json') ? `${JSON.stringify({ clientId, revoked: true })}\n` : text;
  }
}

/** Lines that a shell can read, in the names that `molar login` takes them from. */
function secretText({ clientId, clientSecret }: { readonly clientId: string; readonly clientSecret: string }): string {
  return `MOLAR_CLIENT_ID=${clientId}\nMOLAR_CLIENT_SECRET=${clientSecret}\n`;
}
