import { documents } from '../../catalog/resources/documents.ts';
import { deleteCommand } from '../../cli/crud/deletecommand.ts';

export default class DocumentsDelete extends deleteCommand(documents, 8000000000001) {
  static override summary = 'Delete documents and their files';
  static override description =
    'Asks once on a terminal, naming the documents; elsewhere it needs --yes. For several ids the output has the outcome of each. Deleted documents cannot be recovered.';
  static override examples = [
    '<%= config.bin %> documents delete 8000000000001',
    '<%= config.bin %> documents delete 8000000000001 8000000000002 --yes --json',
    '<%= config.bin %> documents list --tag Old --fields id --csv | <%= config.bin %> documents delete - --yes',
  ];
}
