import * as Args from '@oclif/core/args';
import { uploadFlags } from '../../cli/flags/documents.ts';
import { UploadCommand } from '../../cli/uploadcommand.ts';

export default class DocumentsUpload extends UploadCommand {
  static override summary = 'Upload files as documents';
  static override description = [
    'All files are checked before the first is sent: readable, of a supported type that content and extension agree on, 50 MiB at most. A file that is refused keeps no other from being uploaded.',
    'What became of each file is written to a results CSV, which is a manifest itself: run it again with --manifest until everything is done. Nothing is stored twice: the same content under the same name for the same owner is one document.',
  ].join('\n\n');
  static override examples = [
    "<%= config.bin %> documents upload scan.pdf photo.jpg --patient 7000000000114 --tag 'X-Ray'",
    '<%= config.bin %> documents upload photo.png --patient 7000000000114 --crop 0,0,600,400 --ratio 0.5',
    "cat consent.pdf | <%= config.bin %> documents upload - --name 'Consent' --patient 7000000000114",
    '<%= config.bin %> documents upload --manifest scans.csv --concurrency 8',
    '<%= config.bin %> documents upload --manifest molar-results.csv',
  ];
  static override args = {
    file: Args.string({
      multiple: true,
      ignoreStdin: true,
      description: 'Files, folders (the files in them), or - for standard input',
    }),
  };
  static override flags = uploadFlags;
}
