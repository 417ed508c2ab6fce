import { BackupCommand } from '../../cli/serving/copycommands.ts';

export default class ServerBackup extends BackupCommand {
  static override summary = "Back up the server's data while it runs";
  static override description =
    'Copies one state of the database and the files of its documents to a new folder, which is a data folder itself, with a manifest and the SHA-256 of every file. The server may go on writing. The copy is checked, and takes its name only then; one that was interrupted goes on with the files it has. Exits with 6 when the data had problems already, which the backup then has, too. It holds patient data and the keys of the server: keep it as you keep those.';
  static override examples = [
    '<%= config.bin %> server backup ./backups/2026-11-21 --data ./practice',
    '<%= config.bin %> server backup ./backups/2026-11-21 --database postgres://molar@db/molar --files s3://documents/molar --json',
  ];
}
