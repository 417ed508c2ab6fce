import { MirrorStatusCommand, statusFlags } from '../../cli/mirror/statuscommands.ts';

export default class MirrorStatus extends MirrorStatusCommand {
  static override summary = 'Show what the local copy holds, and as of when it is true';
  static override description = 'The server is not contacted.';
  static override examples = [
    '<%= config.bin %> mirror status',
    '<%= config.bin %> mirror status --to practice.db --json',
  ];
  static override flags = statusFlags;
}
