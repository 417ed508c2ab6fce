import { documents } from '../../catalog/resources/documents.ts';
import { DeleteCommand, deleteFlags } from '../../cli/deletecommand.ts';
import { idArgument } from '../../cli/resourcecommand.ts';

export default class DocumentsDelete extends DeleteCommand {
  static override summary = 'Delete a document and its file';
  static override description = 'Asks first on a terminal. What is deleted cannot be brought back.';
  static override examples = [
    '<%= config.bin %> documents delete 7000000000201',
    '<%= config.bin %> documents delete 7000000000201 --yes --json',
  ];
  static override args = idArgument('Id of the document');
  static override flags = deleteFlags;
  protected override readonly resource = documents;
}
