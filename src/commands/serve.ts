import * as Flags from '@oclif/core/flags';
import { ServeCommand, type ServeRequest } from '../cli/serving/servecommand.ts';
import { dataFlags } from '../cli/serving/serverfolder.ts';

export default class Serve extends ServeCommand {
  static override summary = 'Run the embedded server of the whole API';
  static override description =
    'Serves the whole API on a loopback address, with everything in one data folder. When it is ready it prints one line; SIGTERM and SIGINT end it when running requests are done. Listening beyond this machine needs TLS, or --behind-proxy.';
  static override examples = [
    '<%= config.bin %> serve --data ./practice --demo small',
    '<%= config.bin %> serve --port 0 --json --data ./practice --import fixture.ndjson',
    '<%= config.bin %> serve --host 0.0.0.0 --tls-cert server.pem --tls-key server.key --data ./practice',
  ];
  static override flags = {
    host: Flags.string({ helpValue: 'ADDRESS', summary: 'Address to listen on, 127.0.0.1 when not given' }),
    port: Flags.string({ helpValue: 'N', summary: 'Port to listen on, 4010 when not given; 0 takes a free one' }),
    ...dataFlags,
    import: Flags.string({
      helpValue: 'FILE',
      multiple: true,
      multipleNonGreedy: true,
      summary: 'Import this NDJSON file before listening; may be repeated',
    }),
    demo: Flags.string({
      options: ['small', 'medium', 'large'],
      summary: 'Fill an empty folder with a synthetic practice',
    }),
    'request-timeout': Flags.string({ helpValue: 'S', summary: 'Seconds a request may take, 60 when not given' }),
    'max-document-size': Flags.string({ helpValue: 'MB', summary: 'Largest document in MiB, 50 when not given' }),
    'rate-limit': Flags.string({
      helpValue: 'N',
      summary: 'Requests a second for each organization and token, 100 when not given; 0 for no limit',
    }),
    'aging-page-limit': Flags.string({
      helpValue: 'N',
      summary: 'Transactions searched for a page of the aging report, 1000 when not given',
    }),
    'require-location': Flags.boolean({
      summary: 'Refuse reads without a location filter, as announced for a later version',
    }),
    'stream-retention': Flags.string({
      helpValue: 'DAYS',
      summary: 'Days that messages of the stream are kept for listeners, 7 when not given',
    }),
    'audit-retention': Flags.string({
      helpValue: 'DAYS',
      summary: 'Days that entries of the audit log are kept, 2192 (six years) when not given',
    }),
    amqp: Flags.string({
      helpValue: 'URL',
      summary:
        'Relay the stream to a broker (amqps://user@host/vhost); ?exchange=NAME for another exchange than molar.stream; MOLAR_AMQP_PASSWORD holds the password',
    }),
    'tls-cert': Flags.string({ helpValue: 'FILE', summary: 'Serve https with this certificate (PEM)' }),
    'tls-key': Flags.string({ helpValue: 'FILE', summary: 'Key of the certificate (PEM)' }),
    'behind-proxy': Flags.boolean({
      summary: 'One proxy in front does TLS: trust the X-Forwarded headers that it sets or adds to',
    }),
    'log-level': Flags.string({
      options: ['debug', 'info', 'warn', 'error', 'silent'],
      summary: 'How much to log on standard error, info when not given',
    }),
    json: Flags.boolean({ summary: 'Say where the server listens as one line of JSON' }),
  };

  protected override async start(request: ServeRequest) {
    const { demo, place, logLevel, ...options } = request;
    const [{ serve }, { openLog }] = await Promise.all([import('../server/serve.ts'), import('../server/log.ts')]);
    const log = openLog(logLevel, this.context.streams.stderr);
    if (demo === undefined) return serve({ ...options, ...place, log });
    const { demoOf } = await import('../demo/start.ts');
    return serve({ ...options, ...place, log, demo: demoOf(demo) });
  }
}
