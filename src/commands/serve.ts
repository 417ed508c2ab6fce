import { ServeCommand } from '../cli/serving/servecommand.ts';

export default class Serve extends ServeCommand {
  static override summary = 'Run the embedded server of the complete API';
  static override description =
    'Serves the complete API on a loopback address, with everything in one data folder. When it is ready it prints one line; SIGTERM and SIGINT stop it after running requests are finished; behind a proxy, SIGTERM first makes it unready for a while (--drain-time). Listening beyond this machine requires TLS, or --behind-proxy.';
  static override examples = [
    '<%= config.bin %> serve --data ./practice --demo small',
    '<%= config.bin %> serve --port 0 --json --data ./practice --import fixture.ndjson',
    '<%= config.bin %> serve --host 0.0.0.0 --tls-cert server.pem --tls-key server.key --data ./practice',
  ];
}
