import { lookup } from 'node:dns/promises';
import { versions } from 'node:process';
import * as Flags from '@oclif/core/flags';
import { inspectCertificate } from '../core/doctor/certificate.ts';
import { diagnose, type Heard } from '../core/doctor/diagnose.ts';
import { exitCodeOfFindings, type Finding } from '../core/doctor/finding.ts';
import { terminalText } from '../core/output/terminaltext.ts';
import { Connections, readCertificates } from './connections.ts';
import type { Context } from './context.ts';
import { connectionFlags, readConnectionFlags, talkFlags } from './flags/connection.ts';
import { type FlagValues, isOn, textFlag } from './flagvalues.ts';
import { MolarCommand } from './molarcommand.ts';

export const doctorFlags = { json: Flags.boolean({ summary: 'Print JSON' }), ...talkFlags, ...connectionFlags };

/** Checks the way to the server step by step and says what to do where something is wrong. */
export abstract class DoctorCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags } = await this.input();
    const json = isOn(flags, 'json');
    const findings: Finding[] = [];
    for await (const finding of this.findings(flags)) {
      findings.push(finding);
      if (!json) await this.print(textOf(finding));
    }
    const exitCode = exitCodeOfFindings(findings);
    if (json) await this.print(`${JSON.stringify({ ok: exitCode === 0, exitCode, findings }, null, 2)}\n`);
    this.context.setExitCode(exitCode);
  }

  private async *findings(flags: FlagValues): AsyncGenerator<Finding> {
    const ear = listening(this.context);
    // One try each: what fails now and then is worth seeing.
    const connections = new Connections(ear.context, { 'max-retries': '0', ...flags }, this.config.userAgent);
    const { env } = this.context;
    try {
      yield* diagnose({
        flags: readConnectionFlags(flags),
        env,
        versions: { molar: this.config.version, node: versions.node },
        lookup: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
        inspect: async (address, proxy) =>
          inspectCertificate(
            address,
            proxy,
            await readCertificates(textFlag(flags, 'ca-cert'), env.NODE_EXTRA_CA_CERTS),
          ),
        connect: () => connections.client(),
        heard: ear.heard,
        signal: this.context.signal,
      });
    } finally {
      await connections.close();
    }
  }
}

/** The context with a network whose last answer is kept: refusals carry headers worth reading too. */
function listening(context: Context): { readonly context: Context; readonly heard: () => Heard | undefined } {
  let last: Heard | undefined;
  const openNetwork: Context['openNetwork'] = (options) => {
    const network = context.openNetwork(options);
    return {
      ...network,
      send: async (request) => {
        const response = await network.send(request);
        last = { headers: { ...last?.headers, ...response.headers }, at: context.clock.now() };
        return response;
      },
    };
  };
  return { context: { ...context, openNetwork }, heard: () => last };
}

const MARKS: Readonly<Record<Finding['level'], string>> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' };

function textOf({ check, level, message, next }: Finding): string {
  const lines = [
    `${MARKS[level]}  ${check.padEnd(14)}${message}`,
    ...(next === null || level === 'ok' ? [] : [`${' '.repeat(20)}${next}`]),
  ];
  return lines.map((line) => `${line.slice(0, 6)}${terminalText(line.slice(6))}\n`).join('');
}
