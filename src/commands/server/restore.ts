import { RestoreCommand } from '../../cli/serving/copycommands.ts';

export default class ServerRestore extends RestoreCommand {
  static override summary = 'Restore a backup to an empty folder or database';
  static override description =
    'Verifies the backup against its manifest, copies it to a new folder or an empty database, compares the result with the backup, and checks it. The folder gets its name only then; an interrupted restore resumes when it is run again. A backup of one kind of database can be restored to the other. Exits with 6 when the restored data has problems, which the original had too.';
  static override examples = [
    '<%= config.bin %> server restore ./backups/2026-11-21 --data ./practice',
    '<%= config.bin %> server restore ./backups/2026-11-21 --database postgres://molar@db/molar --files s3://documents/molar',
  ];
}
