import { ServeCommand } from '../cli/serving/servecommand.ts';

export default class Serve extends ServeCommand {
  static override summary = 'Run the embedded server of the whole API';
  static override description =
    'Serves the whole API on a loopback address, with everything in one data folder. When it is ready it prints one line; SIGTERM and SIGINT end it when running requests are done. Listening beyond this machine needs TLS, or --behind-proxy.';
  static override examples = [
    '<%= config.bin %> serve --data ./practice --demo small',
    '<%= config.bin %> serve --port 0 --json --data ./practice --import fixture.ndjson',
    '<%= config.bin %> serve --host 0.0.0.0 --tls-cert server.pem --tls-key server.key --data ./practice',
  ];
}
