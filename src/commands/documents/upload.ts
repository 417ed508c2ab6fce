import * as Args from '@oclif/core/args';
import { UploadCommand } from '../../cli/documents/uploadcommand.ts';
import { uploadFlags } from '../../cli/flags/documents.ts';

export default class DocumentsUpload extends UploadCommand {
  static override summary = 'Upload files as documents';
  static override description = [
    'All files are checked before the first is sent: readable, of a supported type that content and extension agree on, 50 MiB at most, names and tags within their limits, no file twice, patients that exist. A file that is refused does not stop the others; --check lists them all and uploads none.',
    'The outcome of each file is written to a results CSV. Run the same command again, or the results with --manifest, until everything is done. A journal beside the results (FILE.journal) records what was sent; leave it there. During a run, another with the same results file is refused.',
    'The same content under the same name for the same owner is one document, whatever is interrupted in between. When a response is missing or leaves the outcome open, molar looks for the document on the server, waits a second or more, looks again, and only then sends the file again with the same Idempotency-Key. Only a server that ignores this key and is still storing the file after that second can end up with two.',
    'With --layout patient-folders the folders, which are searched recursively, say which patient a file belongs to: 7000000000114_Smith/X-Ray/2026-01-02-Bitewing.jpg is a document of patient 7000000000114 with the tag X-Ray and that date, named Bitewing. The plan is shown before anything is sent; on a terminal you are asked to confirm it, unless --yes is given.',
    'With chart-folders, name-folders or a pattern, patients are found by chart number, by name and date of birth, or by id. Exactly one patient has to agree with all that the path says; other files go to a review file (--review), a manifest in which you fill in the patients. See molar help uploads.',
    'A manifest needs the column file. It may have name, patient, perioExam, tags (separated by ;), mimeType, userDefinedDate, crop and ratio too; flags fill in what its rows leave empty. Paths in it start from the current folder.',
  ].join('\n\n');
  static override examples = [
    "<%= config.bin %> documents upload scan.pdf photo.jpg --patient 7000000000114 --tag 'X-Ray'",
    '<%= config.bin %> documents upload photo.png --patient 7000000000114 --crop 0,0,600,400 --ratio 0.5',
    '<%= config.bin %> documents upload - --name Consent --patient 7000000000114 < consent.pdf',
    "<%= config.bin %> documents upload scans --recursive --include '*.pdf' --patient 7000000000114",
    '<%= config.bin %> documents upload scans --layout patient-folders --check',
    "<%= config.bin %> documents upload scans --layout '{last}, {first} {birthDate}/{date} {name}' --check",
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
