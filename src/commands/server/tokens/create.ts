import * as Flags from '@oclif/core/flags';
import { isOn, textFlag, textFlags } from '../../../cli/flags/values.ts';
import type { CommandInput } from '../../../cli/molarcommand.ts';
import { ServerCommand } from '../../../cli/serving/servercommand.ts';
import { dataFlags, type ServerPlace } from '../../../cli/serving/serverfolder.ts';
import type { OpenFolder } from '../../../server/datafolder.ts';

export default class ServerTokensCreate extends ServerCommand<OpenFolder> {
  static override summary = 'Create an access token for the embedded server';
  static override description = 'Prints the token once; the server keeps only its hash.';
  static override examples = [
    '<%= config.bin %> server tokens create --for demo --scope model:read --data ./practice',
    '<%= config.bin %> server tokens create --for demo --scope model:read --scope model:write --expires 2027-01-01 --label scanner',
  ];
  static override flags = {
    ...dataFlags,
    for: Flags.string({
      helpValue: 'ORGANIZATION',
      multiple: true,
      multipleNonGreedy: true,
      required: true,
      summary: 'Organization the token is for; may be repeated',
    }),
    scope: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      options: ['model:read', 'model:write', 'practice:read'],
      summary: 'What the token allows, model:read when not given; may be repeated',
    }),
    expires: Flags.string({
      helpValue: 'TIME',
      summary: 'Date or date-time when it stops working; never when not given',
    }),
    label: Flags.string({ helpValue: 'TEXT', summary: 'A name to know it by' }),
    json: Flags.boolean({ summary: 'Print one JSON object' }),
  };

  protected override async open(place: ServerPlace): Promise<OpenFolder> {
    return (await import('../../../server/datafolder.ts')).openFolder(place.data, { ...place, serving: false });
  }

  protected override async work(folder: OpenFolder, { flags }: CommandInput): Promise<string> {
    const { createToken } = await import('../../../server/tokens/admin.ts');
    const scopes = textFlags(flags, 'scope');
    const made = await createToken(folder.service, {
      organizations: textFlags(flags, 'for'),
      scopes: scopes.length > 0 ? scopes : ['model:read'],
      expires: textFlag(flags, 'expires'),
      label: textFlag(flags, 'label'),
    });
    return isOn(flags, 'json') ? `${JSON.stringify(made)}\n` : `${made.token}\n`;
  }
}
