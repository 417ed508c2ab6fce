import { documents } from '../../catalog/resources/documents.ts';
import { countCommand } from '../../cli/crud/readcommands.ts';

export default class DocumentsCount extends countCommand(documents) {
  static override examples = [
    '<%= config.bin %> documents count',
    '<%= config.bin %> documents count --patient 7000000000114 --tag X-Ray',
  ];
}
