import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { isOn } from '../../../cli/flags/values.ts';
import type { CommandInput } from '../../../cli/molarcommand.ts';
import { ServerCommand } from '../../../cli/serving/servercommand.ts';
import { dataFlags, requireFolder, type ServerPlace } from '../../../cli/serving/serverfolder.ts';
import type { OpenFolder } from '../../../server/datafolder.ts';

export default class ServerTokensRevoke extends ServerCommand<OpenFolder> {
  static override summary = 'Revoke an access token of the embedded server';
  static override description = 'The token stops working at once, on a running server too.';
  static override examples = [
    '<%= config.bin %> server tokens revoke 3f9a1c0b7d2e --data ./practice',
    '<%= config.bin %> server tokens revoke 3f9a1c0b7d2e --data ./practice --json',
  ];
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'Id that "server tokens list" shows' }),
  };
  static override flags = { ...dataFlags, json: Flags.boolean({ summary: 'Print one JSON object' }) };

  protected override async open(place: ServerPlace): Promise<OpenFolder> {
    requireFolder(place);
    return (await import('../../../server/datafolder.ts')).openFolder(place.data, { ...place, serving: false });
  }

  protected override async work(folder: OpenFolder, { args, flags }: CommandInput): Promise<string> {
    const { revoke } = await import('../../../server/tokens/admin.ts');
    await revoke(folder.service, String(args.id));
    return isOn(flags, 'json')
      ? `${JSON.stringify({ id: args.id, revoked: true })}\n`
      : `Token ${String(args.id)} is revoked.\n`;
  }
}
