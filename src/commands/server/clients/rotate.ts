import { ClientRotateCommand } from '../../../cli/serving/clientcommands.ts';

export default class ServerClientsRotate extends ClientRotateCommand {
  static override summary = 'Replace the secret of an API client';
  static override description =
    'Prints a new secret, once. The earlier one is accepted until --overlap is over; tokens that the client has stay valid.';
  static override examples = [
    '<%= config.bin %> server clients rotate 3f9a1c0b7d2e4a5b --data ./practice',
    '<%= config.bin %> server clients rotate 3f9a1c0b7d2e4a5b --overlap 0 --data ./practice',
  ];
}
