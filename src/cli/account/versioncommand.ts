import { existsSync } from 'node:fs';
import { releasesAddress } from '../../core/releases/address.ts';
import { isLater, newestVersion } from '../../core/releases/newest.ts';
import { upgradeOf } from '../../core/releases/upgrade.ts';
import { flagGroup } from '../flags/declare.ts';
import { isOn } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';

const SKIPPED =
  'Nothing was asked: --check is for people at a terminal, and does nothing in jobs (CI is set, or there is no terminal).';

/** Prints the version; with `--check` also the newest one, and how to upgrade. */
export abstract class VersionCommand extends MolarCommand {
  static override flags = {
    check: flagGroup().toggle('Ask where molar is published for the newest version, and say how to upgrade'),
  };

  override async run(): Promise<void> {
    const { flags } = await this.input();
    await this.print(`${this.config.userAgent}\n`);
    if (!isOn(flags, 'check')) return;
    const { env, streams, signal } = this.context;
    const isJob = Boolean(env.CI) || !(streams.stdout.isTTY || streams.stderr.isTTY);
    if (isJob) return this.note(SKIPPED);
    const releases = releasesAddress(env);
    const { send } = await this.connections(flags).network();
    const newest = await newestVersion(releases, send, signal);
    const { version } = this.config;
    if (isLater(newest, version)) {
      const how = upgradeOf(this.installed(), newest, releases);
      await this.print(`molar ${newest} is available. To upgrade:\n  ${how}\n`);
    } else {
      const which = newest === version ? 'the newest version' : `newer than what is published, molar ${newest}`;
      await this.print(`This is ${which}.\n`);
    }
  }

  private installed() {
    const { root, platform, arch, home } = this.config;
    return { root, platform, arch, home, exists: existsSync };
  }
}
