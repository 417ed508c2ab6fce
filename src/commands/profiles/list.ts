import { ProfileListCommand } from '../../cli/account/profilecommands.ts';

export default class ProfilesList extends ProfileListCommand {
  static override summary = 'List the profiles made by molar login';
  static override examples = ['<%= config.bin %> profiles list', '<%= config.bin %> profiles list --json'];
}
