import { documents } from '../../catalog/resources/documents.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';
import { DocumentUpdateCommand, documentUpdateFlags } from '../../cli/documents/documentupdate.ts';

export default class DocumentsUpdate extends DocumentUpdateCommand {
  static override summary = 'Rename a document or change its tags';
  static override description = [
    "--tags replaces all the tags of the document, --tags '[]' removes them. --add-tag and --remove-tag read the tags first and keep the rest; letter case makes no difference, and nothing is sent when nothing would change.",
    'The API replaces tags as a whole and has no lock. So the document is read once more after the change, and when somebody else wrote over it at the same moment it is changed again. A tag that they add in that very moment may be lost.',
  ].join('\n\n');
  static override examples = [
    "<%= config.bin %> documents update 8000000000001 --name 'Insurance card'",
    '<%= config.bin %> documents update 8000000000001 --tags X-Ray --tags 2026',
    '<%= config.bin %> documents update 8000000000001 --add-tag Reviewed --remove-tag New',
  ];
  static override args = idArgument(documents);
  static override flags = documentUpdateFlags;
}
