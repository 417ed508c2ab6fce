import { MirrorSyncCommand, syncArguments, syncFlags } from '../../cli/mirror/synccommand.ts';

export default class MirrorSync extends MirrorSyncCommand {
  static override summary = 'Make a local copy of the practice, or bring it up to date';
  static override description = [
    'The copy is a SQLite file, or a schema of a PostgreSQL database: a table for each resource, typed columns, and views for common questions. The same line makes the first copy, brings what changed since, and continues after an interruption. What a sync brings becomes visible at once, as a whole.',
    'molar mirror status says as of when it is true; deleted records stay in tables of their own.',
  ].join('\n\n');
  static override examples = [
    '<%= config.bin %> mirror sync',
    '<%= config.bin %> mirror sync patients transactions --to practice.db --history',
    '<%= config.bin %> mirror sync --to postgres://molar@db.example/practice --quiet',
    '<%= config.bin %> mirror sync --fresh 15m --quiet --json',
    '<%= config.bin %> mirror sync --to analysis.db --deidentify ~/keys/analysis.key',
  ];
  static override args = syncArguments;
  static override flags = syncFlags;
}
