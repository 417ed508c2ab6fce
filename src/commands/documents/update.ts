import { documents } from '../../catalog/resources/documents.ts';
import { idArgument } from '../../cli/resourcecommand.ts';
import { UpdateCommand, updateFlags } from '../../cli/updatecommand.ts';

export default class DocumentsUpdate extends UpdateCommand {
  static override summary = 'Rename a document or replace its tags';
  static override description = "The tags given replace all the document had; --tags '[]' removes them.";
  static override examples = [
    "<%= config.bin %> documents update 7000000000201 --name 'Insurance card'",
    '<%= config.bin %> documents update 7000000000201 --tag X-Ray --tag 2026',
  ];
  static override args = idArgument('Id of the document');
  static override flags = updateFlags(documents);
  protected override readonly resource = documents;
}
