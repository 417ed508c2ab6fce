import { LogoutCommand } from '../cli/account/profilecommands.ts';

export default class Logout extends LogoutCommand {
  static override summary = 'Remove a profile and its secret';
  static override examples = ['<%= config.bin %> logout', '<%= config.bin %> logout --profile work'];
}
