import { documents } from '../../catalog/resources/documents.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';
import { DocumentUpdateCommand, documentUpdateFlags } from '../../cli/documents/documentupdate.ts';

export default class DocumentsUpdate extends DocumentUpdateCommand {
  static override summary = 'Rename a document or change its tags';
  static override description = [
    "--tags replaces all tags of the document; --tags '[]' removes them. --add-tag and --remove-tag read the tags first and leave the others alone; letter case makes no difference, and nothing is sent when nothing would change.",
    'The API can only replace all tags at once and has no lock. So the document is read again after the change, and when somebody else overwrote it at the same moment it is changed again. A tag that they add at that very moment may be lost.',
  ].join('\n\n');
  static override examples = [
    "<%= config.bin %> documents update 8000000000001 --name 'Insurance card'",
    '<%= config.bin %> documents update 8000000000001 --tags X-Ray --tags 2026',
    '<%= config.bin %> documents update 8000000000001 --add-tag Reviewed --remove-tag New',
  ];
  static override args = idArgument(documents);
  static override flags = documentUpdateFlags;
}
