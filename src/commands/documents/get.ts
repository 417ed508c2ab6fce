import { documents } from '../../catalog/resources/documents.ts';
import { getCommand } from '../../cli/crud/readcommands.ts';

export default class DocumentsGet extends getCommand(documents, 8000000000001) {
  static override description =
    'Its download links are valid for 15 minutes; molar documents download fetches the file itself.';
  static override examples = [
    '<%= config.bin %> documents get 8000000000001',
    '<%= config.bin %> documents get 8000000000001 --fields name,tags --json',
  ];
}
