import { BackupCommand } from '../../cli/serving/copycommands.ts';

export default class ServerBackup extends BackupCommand {
  static override summary = "Back up the server's data while it runs";
  static override description =
    'Copies a consistent state of the database and its document files to a new folder, which is itself a data folder, with a manifest and the SHA-256 of every file. The server may continue to write. The folder gets its name only after the copy has been checked; an interrupted backup resumes with the files it has. With --since, document files that an earlier backup in the same folder has are read, compared with its list and linked; the backup is complete all the same, and the earlier one can be deleted. Exits with 6 when the data had problems, which the backup then has too. It holds patient data and the keys of the server: protect it as you protect those.';
  static override examples = [
    '<%= config.bin %> server backup ./backups/2026-11-21 --data ./practice',
    '<%= config.bin %> server backup ./backups/2026-11-22 --since ./backups/2026-11-21 --data ./practice',
    '<%= config.bin %> server backup ./backups/2026-11-21 --database postgres://molar@db/molar --files s3://documents/molar --json',
  ];
}
