import { ExportFolderCommand, exportCommandArgs, exportCommandFlags } from '../../cli/exporting/exportcommand.ts';

export default class Export extends ExportFolderCommand {
  static override summary = 'Export several resources into a folder, a file each';
  static override description = [
    'Every file is replaced only when it is complete, and has a receipt beside it; summary.json says how the run went.',
    'With --since-last NAME the first run writes complete files, and each later one writes what changed since the last complete run of that name to files of their own. --resume continues an interrupted run. A second run into the same folder is refused while the first one is running.',
  ].join('\n\n');
  static override examples = [
    '<%= config.bin %> export patients transactions appointments --to ./nightly',
    '<%= config.bin %> export ALL --to ./nightly --format ndjson --parallel 4 --resume',
    '<%= config.bin %> export patients transactions --to ./nightly --since-last nightly --full-ids',
    '<%= config.bin %> export patients documents --to ./active --filter patients:patientStatus.eq=ACTIVE --fields patients:id,lastName',
  ];
  static override args = exportCommandArgs;
  static override flags = exportCommandFlags;
}
