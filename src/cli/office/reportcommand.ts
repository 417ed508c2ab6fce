import { usageFailure } from '../../core/failure.ts';
import { nameId } from '../../core/names/namerows.ts';
import type { Question } from '../../core/office/report.ts';
import type { OfficeRow } from '../../core/office/result.ts';
import { type Context, setContext } from '../context.ts';
import { type FlagValues, isOn, textFlag, textFlags } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { readNames, readZones } from '../names/profilenames.ts';
import { TERMINAL_LIMIT } from '../rows/plan.ts';
import { readAll } from '../terminal/streams.ts';
import type { Access, Setting } from './asked.ts';
import { DayReader } from './days.ts';
import { explanation } from './explain.ts';
import { officeFlags } from './flags.ts';
import { currentMirror, keepsHistory } from './mirror.ts';
import { planOffice, type Writing, writeOffice } from './output.ts';
import { type Result, type ResultOrder, resultOf } from './result.ts';
import type { ReportSpec } from './spec.ts';
import { readFolder, writeByLocation } from './split.ts';

/** The command of a report of the office. */
export function reportCommand(spec: ReportSpec) {
  return class extends ReportCommand {
    static override summary = spec.description;
    static override description = spec.definition;
    // What a report asks for comes first in its help.
    static override flags = { ...spec.flags, ...officeFlags, ...spec.flags };
    protected override readonly spec = spec;
  };
}

/** Answers a report from the mirror, or from the API where that is few requests, and writes it. */
abstract class ReportCommand extends MolarCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  protected abstract readonly spec: ReportSpec;

  override async run(): Promise<void> {
    const { flags: given } = await this.input();
    const { spec, context } = this;
    const split = readFolder(given, spec);
    const flags = split?.flags ?? given;
    const setting = readSetting(flags, context);
    const asked = spec.ask(flags, new DayReader(flags, setting.question.today));
    const plan = planOffice(flags, asked.columns, context.streams.stdout.isTTY && split === undefined);
    if (isOn(flags, 'explain'))
      return this.print(explanation(spec, asked, setting, await keepsHistory(flags, context)));
    checkFreshness(flags, asked.sql === undefined, spec);
    if (isOn(flags, 'token-stdin')) await this.keepStandardInput();
    const access = this.access(setting);
    const { keys, limit } = plan;
    const order: ResultOrder = { spec, asked, setting, keys, limit, now: context.clock.now() };
    const writing: Writing = { plan, flags, context };
    if (split !== undefined) {
      const paths = await writeByLocation(split.folder, order, access, writing);
      await this.sayZone(setting, []);
      return this.print(paths.map((path) => `${path}\n`).join(''));
    }
    const result = resultOf(order, await asked.answer(access));
    const hidden = await writeOffice(result, writing);
    await this.sayZone(setting, result.rows);
    await this.sayHidden(result, hidden, plan.isDefaultLimit);
  }

  private access(setting: Setting): Access {
    const { flags } = setting;
    const { context, config } = this;
    const note = (text: string) => this.note(text);
    return {
      ...{ setting, signal: context.signal, note },
      mirror: (resources, isRenewed = false) =>
        currentMirror(resources, { flags: isRenewed ? { ...flags, fresh: '0' } : flags, context, config, note }),
      client: () => this.connect(flags),
    };
  }

  /** The token is read twice: by the sync of the mirror, and for the requests of the report. */
  private async keepStandardInput(): Promise<void> {
    const { context } = this;
    const { stdin } = context.streams;
    const text = await readAll(stdin.chunks, context.signal);
    const chunks = {
      async *[Symbol.asyncIterator]() {
        yield Buffer.from(text);
      },
    };
    setContext(this.config, { ...context, streams: { ...context.streams, stdin: { isTTY: stdin.isTTY, chunks } } });
  }

  /** The computer's zone is a guess, which is told. */
  private async sayZone({ zones, question }: Setting, rows: readonly OfficeRow[]): Promise<void> {
    const shown = [...new Set(rows.map((row) => row['location.id'] ?? undefined))];
    const locations = shown.length === 0 ? (question.locations ?? [undefined]) : shown;
    const known = locations.map((id) => zones.of(id === undefined ? undefined : String(id)));
    const guessed = known.find(({ origin }) => origin === 'computer');
    if (guessed === undefined || this.isComputersZoneTold) return;
    const where = zones.areSeveral ? ' of locations without a time zone' : '';
    await this.note(
      `Days and times${where} are those of ${guessed.zone}, the time zone of this computer; --timezone or molar names edit names another.`,
    );
  }

  private async sayHidden(result: Result, hidden: readonly string[], isDefaultLimit: boolean): Promise<void> {
    if (hidden.length > 0)
      await this.note(`The terminal is too narrow for: ${hidden.join(', ')}. Choose with --fields, or use --csv.`);
    if (isDefaultLimit && result.totals.count > result.rows.length)
      await this.note(`These are the first ${TERMINAL_LIMIT} ${result.many}. Add --all for every one, or --limit N.`);
  }
}

/** What the flags of every report say. Throws a Failure (exit 2, or 9 for a file that cannot be read). */
function readSetting(flags: FlagValues, { env, clock }: Pick<Context, 'env' | 'clock'>): Setting {
  const names = readNames(flags, env);
  const zones = readZones(flags, env, names);
  const locations = readLocations(flags);
  const now = clock.now();
  const timezone = isOn(flags, 'utc') ? 'UTC' : textFlag(flags, 'timezone');
  const question: Question = {
    today: zones.clock(zones.today(locations ?? [])).of(now).date,
    now: new Date(now).toISOString(),
    locations,
    zones: timezone === undefined ? zonesOf(names, zones) : [],
    otherwise: zones.clock(zones.of(undefined)),
    hasHistory: false,
  };
  return { flags, names, zones, question, timezone };
}

/** Locations by the zone that the names file gives them. */
function zonesOf(names: Setting['names'], zones: Setting['zones']): Question['zones'] {
  const byZone = new Map<string, string[]>();
  for (const { id, timezone } of names.locations()) {
    if (timezone !== undefined) byZone.set(timezone, [...(byZone.get(timezone) ?? []), id]);
  }
  return [...byZone].map(([zone, locations]) => ({ clock: zones.clock({ zone }), locations }));
}

/** Ids of `--location`, each once; null for all. */
function readLocations(flags: FlagValues): readonly string[] | null {
  const texts = textFlags(flags, 'location');
  if (texts.length === 0) return null;
  const ids = texts.flatMap((text) => text.split(',').map((id) => id.trim())).filter((id) => id !== '');
  if (ids.length === 0) {
    throw usageFailure('--location takes ids or names of locations, or ALL.', { source: '--location' });
  }
  if (ids.some((id) => /^(?:all|\*)$/i.test(id))) return null;
  return [...new Set(ids.map((id) => nameId(id) ?? id))];
}

/** `--offline` goes without `--fresh`, and with what the mirror answers alone. Throws a Failure (exit 2). */
function checkFreshness(flags: FlagValues, needsApi: boolean, { name }: ReportSpec): void {
  if (!isOn(flags, 'offline')) return;
  if (textFlag(flags, 'fresh') !== undefined) {
    throw usageFailure('--offline and --fresh contradict each other; give one.', { source: '--fresh' });
  }
  if (needsApi) {
    throw usageFailure(`reports ${name} asks the API, which --offline does not; a mirror has no such figures.`, {
      source: '--offline',
    });
  }
}
