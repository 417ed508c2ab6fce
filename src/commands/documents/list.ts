import { documents } from '../../catalog/resources/documents.ts';
import { listCommand } from '../../cli/crud/listcommand.ts';

export default class DocumentsList extends listCommand(documents) {
  static override description =
    'Shows a table of the first 100 documents on a terminal; writes all of them as CSV to a pipe or file.';
  static override examples = [
    '<%= config.bin %> documents list --patient 7000000000114',
    '<%= config.bin %> documents list --tag X-Ray --fields id,name,tags --out x-rays.csv',
  ];
}
