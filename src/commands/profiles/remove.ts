import { ProfileRemoveCommand } from '../../cli/account/profilecommands.ts';

export default class ProfilesRemove extends ProfileRemoveCommand {
  static override summary = 'Remove a profile and the secret kept with it';
  static override examples = ['<%= config.bin %> profiles remove work'];
}
