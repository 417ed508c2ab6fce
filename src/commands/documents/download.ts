import { documents } from '../../catalog/resources/documents.ts';
import { DownloadCommand } from '../../cli/documents/downloadcommand.ts';
import { downloadFlags } from '../../cli/flags/documents.ts';
import { idsArgument } from '../../cli/flags/idlist.ts';

export default class DocumentsDownload extends DownloadCommand {
  static override summary = 'Download the files of documents';
  static override description = [
    'Choose documents by id, by a filter, or all of them. Files get the stored names, made safe for every system; of documents of the same name all but the first get their id. A file is complete or absent, only you can read it, and none is replaced without --overwrite.',
    'Size and hash are checked where the server reports them. An interrupted download leaves FILE.part, which the next run resumes. With --dir, or for several documents, the folder has a journal, .molar-downloads.ndjson: run the same command again to skip the files that are there and download the ones that are missing.',
  ].join('\n\n');
  static override usage = '<%= command.id %> ID… | - | --patient ID | --filter TERM | --all [FLAGS]';
  static override examples = [
    '<%= config.bin %> documents download 8000000000001',
    '<%= config.bin %> documents download 8000000000001 8000000000002 --dir scans',
    '<%= config.bin %> documents download --patient 7000000000114 --dir scans --concurrency 8',
    '<%= config.bin %> documents download --tag X-Ray --thumbnail --dir thumbnails',
    '<%= config.bin %> documents download 8000000000001 --out - | lp',
  ];
  static override args = idsArgument(documents, false);
  static override flags = downloadFlags;
}
