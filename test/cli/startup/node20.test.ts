import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CodeCache } from '../../../src/cli/startup/node20.ts';

const outside = createRequire(import.meta.url);
const MAIN = `"use strict";
const { twice } = require('./chunks/twice.js');
exports.answer = (n) => twice(n) + require('node:path').sep;
exports.later = () => require(__dirname + '/later.js').name;
exports.where = [__filename, __dirname, typeof module];
`;
const TWICE = 'exports.twice = (n) => String(2 * n);\n';
const LATER = 'module.exports = { name: "later" };\n';

let folder: string;
let root: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'molar-codecache-'));
  root = join(folder, 'dist');
  file = join(folder, 'cache', 'compiled', 'list');
  write('main.js', MAIN);
  write('chunks/twice.js', TWICE);
  write('later.js', LATER);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string) {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

interface Main {
  readonly answer: (n: number) => string;
  readonly later: () => string;
  readonly where: readonly string[];
}

function run(use: (main: Main) => unknown = (main) => main.answer(21)): unknown {
  const code = new CodeCache(root, file, outside);
  const answer = use(code.load(join(root, 'main.js')) as unknown as Main);
  code.save();
  return answer;
}

const cached = () => readFileSync(file);

describe('the code cache', () => {
  it('runs modules as Node does, once each', () => {
    expect(run()).toBe('42/');
    expect(run((main) => main.later())).toBe('later');
    expect(run((main) => main.where)).toEqual([join(root, 'main.js'), root, 'object']);
    const code = new CodeCache(root, file, outside);
    expect(code.load(join(root, 'later.js'))).toBe(code.load(join(root, 'later.js')));
  });

  it('is written where only its owner can read, and again only when something was missing', () => {
    run();
    const first = cached();
    expect(readdirSync(dirname(file))).toEqual(['list']);
    run();
    expect(cached().equals(first)).toBe(true);
    run((main) => main.later());
    const second = cached();
    expect(second.length).toBeGreaterThan(first.length);
    // What this run did not load is there still.
    run();
    expect(cached().equals(second)).toBe(true);
  });

  it('is that of another text no more, though it has the same length', () => {
    run();
    write('chunks/twice.js', TWICE.replace('2 *', '3 *'));
    expect(run()).toBe('63/');
    expect(run()).toBe('63/');
  });

  it('is dropped with its file', () => {
    run((main) => main.later());
    rmSync(join(root, 'later.js'));
    write('chunks/twice.js', TWICE.replace('2 *', '4 *'));
    run();
    expect(cached().includes('later.js"')).toBe(false);
  });

  it('is used only whole', () => {
    run();
    const whole = cached();
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), fc.boolean(), (at, change, cut) => {
        const bytes = Buffer.from(whole);
        bytes.writeUInt8(bytes.readUInt8(at) ^ change, at);
        const spoilt = cut ? whole.subarray(0, at) : bytes;
        writeFileSync(file, spoilt);
        expect(run()).toBe('42/');
        // Written anew, since it was no use.
        expect(cached().equals(spoilt)).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  it.each([0o777, 0o770, 0o755])('is not taken from a folder that is open to others (%o)', (mode) => {
    run();
    const before = cached();
    chmodSync(dirname(file), mode);
    write('chunks/twice.js', TWICE.replace('2 *', '5 *'));
    expect(run()).toBe('105/');
    expect(cached().equals(before)).toBe(true);
  });

  it('is done without where it cannot be written', () => {
    writeFileSync(join(folder, 'cache'), '');
    expect(run()).toBe('42/');
    expect(existsSync(file)).toBe(false);
  });

  it('throws what a module throws, with its place', () => {
    write('main.js', 'throw new Error("broken");\n');
    expect(() => run()).toThrow('broken');
    write('main.js', 'exports.answer = () => { throw new Error("broken"); };\n');
    const stack = run((main) => {
      try {
        return main.answer(1);
      } catch (error) {
        return (error as Error).stack;
      }
    });
    expect(stack).toContain(`${join(root, 'main.js')}:1:32`);
  });
});
