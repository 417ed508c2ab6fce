import { documents } from '../../catalog/resources/documents.ts';
import { GetCommand, getFlags } from '../../cli/crud/getcommand.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';

export default class DocumentsGet extends GetCommand {
  static override summary = 'Show one document';
  static override description =
    'Its download links are valid for 15 minutes; molar documents download fetches the file itself.';
  static override examples = [
    '<%= config.bin %> documents get 8000000000001',
    '<%= config.bin %> documents get 8000000000001 --fields name,tags --json',
  ];
  static override args = idArgument('Id of the document');
  static override flags = getFlags;
  protected override readonly resource = documents;
}
