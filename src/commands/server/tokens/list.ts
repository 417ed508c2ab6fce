import * as Flags from '@oclif/core/flags';
import { isOn } from '../../../cli/flags/values.ts';
import type { CommandInput } from '../../../cli/molarcommand.ts';
import { ServerCommand } from '../../../cli/serving/servercommand.ts';
import { dataFlags, requireFolder, type ServerPlace } from '../../../cli/serving/serverfolder.ts';
import type { OpenFolder } from '../../../server/datafolder.ts';

export default class ServerTokensList extends ServerCommand<OpenFolder> {
  static override summary = 'List the access tokens of the embedded server';
  static override description = 'Shows what each token allows and until when; the tokens themselves are not kept.';
  static override examples = [
    '<%= config.bin %> server tokens list --data ./practice',
    '<%= config.bin %> server tokens list --data ./practice --json',
  ];
  static override flags = { ...dataFlags, json: Flags.boolean({ summary: 'Print a JSON array' }) };

  protected override async open(place: ServerPlace): Promise<OpenFolder> {
    requireFolder(place);
    return (await import('../../../server/datafolder.ts')).openFolder(place.data, { ...place, serving: false });
  }

  protected override async work(folder: OpenFolder, { flags }: CommandInput): Promise<string> {
    const { listGrants } = await import('../../../server/tokens/tokens.ts');
    const { tokenText } = await import('../../../server/tokens/admin.ts');
    const rows = await listGrants(folder.service.store.read);
    return isOn(flags, 'json') ? `${JSON.stringify(rows)}\n` : tokenText(rows);
  }
}
