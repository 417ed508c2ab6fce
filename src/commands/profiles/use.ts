import { ProfileUseCommand } from '../../cli/account/profilecommands.ts';

export default class ProfilesUse extends ProfileUseCommand {
  static override summary = 'Use a profile from now on';
  static override description =
    'Every command takes its connection from this profile, unless --profile, MOLAR_PROFILE or another flag or ' +
    'variable says otherwise.';
  static override examples = ['<%= config.bin %> profiles use work'];
}
