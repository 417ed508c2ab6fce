import { ProfileRemoveCommand } from '../../cli/account/profilecommands.ts';

export default class ProfilesRemove extends ProfileRemoveCommand {
  static override summary = 'Remove a profile and its secret';
  static override examples = ['<%= config.bin %> profiles remove work'];
}
