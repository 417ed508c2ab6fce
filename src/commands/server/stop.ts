import { StopCommand } from '../../cli/serving/stopcommand.ts';

export default class ServerStop extends StopCommand {
  static override summary = 'Stop the server of a data folder, in order';
  static override description =
    'Does what SIGTERM does, on Windows, too: the server finishes running requests, after its drain time behind a proxy, and ends; the command waits until it has. Whoever may write to the data folder may stop its server. Exits with 4 when none is running there, with 7 when it takes longer than --timeout.';
  static override examples = [
    '<%= config.bin %> server stop --data ./practice',
    '<%= config.bin %> server stop --data ./practice --timeout 300',
  ];
}
