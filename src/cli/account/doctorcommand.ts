import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { versions } from 'node:process';
import * as Flags from '@oclif/core/flags';
import { inspectCertificate } from '../../core/doctor/certificate.ts';
import { diagnose } from '../../core/doctor/diagnose.ts';
import { exitCodeOfFindings, type Finding } from '../../core/doctor/finding.ts';
import { terminalText } from '../../core/output/terminaltext.ts';
import { Connections, observe, profileSecrets, readCertificates } from '../connections.ts';
import { connectionFlags, readConnectionFlags, talkFlags } from '../flags/connection.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { labelled } from '../terminal/text.ts';

/** Checks the connection to the server step by step and says what to do where something is wrong. */
export abstract class DoctorCommand extends MolarCommand {
  static override flags = { json: Flags.boolean({ summary: 'Print JSON' }), ...talkFlags, ...connectionFlags };

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const json = isOn(flags, 'json');
    const findings: Finding[] = [];
    for await (const finding of this.findings(flags)) {
      findings.push(finding);
      if (!json) await this.print(textOf(finding, this.context.streams.stdout.columns));
    }
    const exitCode = exitCodeOfFindings(findings);
    if (json) await this.print(`${JSON.stringify({ ok: exitCode === 0, exitCode, findings }, null, 2)}\n`);
    this.context.setExitCode(exitCode);
  }

  private async *findings(flags: FlagValues): AsyncGenerator<Finding> {
    // A single attempt: an intermittent failure is worth seeing.
    const once = { 'max-retries': '0', ...flags };
    const connections = new Connections(this.context, once, this.config.userAgent, this.notes);
    const observed = observe(connections, this.context);
    const { env, clock } = this.context;
    try {
      yield* diagnose({
        flags: readConnectionFlags(flags),
        env,
        versions: { molar: this.config.version, node: versions.node, origin: await originOf(this.config.root) },
        lookup: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
        inspect: async (address, proxy) =>
          inspectCertificate(
            address,
            proxy,
            await readCertificates(textFlag(flags, 'ca-cert'), env.NODE_EXTRA_CA_CERTS),
          ),
        connect: () => connections.client(),
        lastResponse: () => observed.lastResponse,
        token: () => observed.token,
        readKeyring: (account, profile) => profileSecrets(this.context).read(account, profile),
        now: clock.now,
        signal: this.context.signal,
      });
    } finally {
      await connections.close();
    }
  }
}

/** What a molar that npm did not install came in, such as `archive molar-0.1.0-linux-x64`; its makers write it down. */
async function originOf(root: string): Promise<string | undefined> {
  const text = await readFile(join(root, 'origin.json'), 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { origin?: string }).origin;
}

const MARKS: Readonly<Record<Finding['level'], string>> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' };

const COLUMN = 20;

function textOf({ check, level, message, next }: Finding, width: number | undefined): string {
  const first = labelled(`${MARKS[level]}  ${check}`, terminalText(message), COLUMN, width);
  return next === null || level === 'ok' ? first : first + labelled('', terminalText(next), COLUMN, width);
}
