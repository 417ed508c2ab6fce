import { DoctorCommand } from '../cli/account/doctorcommand.ts';

export default class Doctor extends DoctorCommand {
  static override summary = 'Check the connection to the server, step by step';
  static override description =
    'Versions, configuration, proxy, name, certificate, token, organization, scopes, clock and rate limit: each line ' +
    'says ok, warn or FAIL, and what to do. The exit code is that of the first failure. Nothing is written to the ' +
    'server and no patient is read.';
  static override examples = [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor --profile work',
    '<%= config.bin %> doctor --json',
  ];
}
