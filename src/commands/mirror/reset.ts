import { MirrorResetCommand, resetFlags } from '../../cli/mirror/statuscommands.ts';

export default class MirrorReset extends MirrorResetCommand {
  static override summary = 'Remove the local copy; the next sync makes it anew';
  static override description = 'Its tombstones and its history are removed too: the server does not have them.';
  static override examples = ['<%= config.bin %> mirror reset --to practice.db --yes'];
  static override flags = resetFlags;
}
