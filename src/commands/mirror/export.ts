import { MirrorExportCommand, mirrorExportArguments, mirrorExportFlags } from '../../cli/query/mirrorexportcommand.ts';

export default class MirrorExport extends MirrorExportCommand {
  static override summary = 'Write whole files from the mirror';
  static override description =
    'A file for each resource, as molar export writes it, with its receipt and one summary.json; no request is sent. All files are of one moment. A resource whose load is not complete is not written (exit 6).';
  static override examples = [
    '<%= config.bin %> mirror export --to ./nightly',
    '<%= config.bin %> mirror export patients transactions --to ./analysis --format parquet',
  ];
  static override args = mirrorExportArguments;
  static override flags = mirrorExportFlags;
}
