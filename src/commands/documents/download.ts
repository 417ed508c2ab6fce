import * as Args from '@oclif/core/args';
import { DownloadCommand } from '../../cli/downloadcommand.ts';
import { downloadFlags } from '../../cli/flags/documents.ts';

export default class DocumentsDownload extends DownloadCommand {
  static override summary = 'Download the files of documents';
  static override description =
    'Files get the stored names, made safe for every system. They are there whole or not at all, only you can read them, and none is replaced without --force.';
  static override examples = [
    '<%= config.bin %> documents download 7000000000201',
    '<%= config.bin %> documents download 7000000000201 7000000000202 --dir scans',
    '<%= config.bin %> documents download 7000000000201 --out - | lp',
  ];
  static override args = {
    id: Args.string({ multiple: true, required: true, ignoreStdin: true, description: 'Ids of documents' }),
  };
  static override flags = downloadFlags;
}
