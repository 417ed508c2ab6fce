import { VersionCommand } from '../cli/account/versioncommand.ts';

export default class Version extends VersionCommand {
  static override summary = 'Show the version of molar and of Node';
  static override description =
    'With --check one request goes to the address in MOLAR_RELEASES, or in molar config set releases, and nothing is ' +
    'sent in it about you or this computer. molar never asks by itself, and in jobs not at all.';
  static override examples = [
    '<%= config.bin %> version',
    '<%= config.bin %> --version',
    '<%= config.bin %> version --check',
  ];
}
