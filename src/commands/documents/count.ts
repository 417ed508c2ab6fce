import { documents } from '../../catalog/resources/documents.ts';
import { CountCommand, countFlags } from '../../cli/crud/countcommand.ts';

export default class DocumentsCount extends CountCommand {
  static override summary = 'Count documents';
  static override examples = [
    '<%= config.bin %> documents count',
    '<%= config.bin %> documents count --patient 7000000000114 --tag X-Ray',
  ];
  static override flags = countFlags(documents);
  protected override readonly resource = documents;
}
