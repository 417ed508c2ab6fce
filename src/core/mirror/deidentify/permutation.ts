import { type Cipher, createCipheriv, hkdfSync } from 'node:crypto';

/** Ids below this one are numbers that every program reads exactly; their pseudonyms are too. */
const EXACT = 2n ** 53n;

/** Above the last id that a column holds. */
const END = 2n ** 63n;

/** Rounds of the network, as in FF1 (NIST SP 800-38G). */
const ROUNDS = 10;

/**
 * A keyed permutation of ids, from 1 to 2^63 - 1: a Feistel network with AES-256 as its round function. No two ids have
 * the same pseudonym, and without the key a pseudonym tells nothing of its id but whether that is below 2^53.
 */
export class Permutation {
  private readonly cipher: Cipher;
  private readonly block = Buffer.alloc(16);

  /** `secret`: 32 random bytes. */
  constructor(secret: Uint8Array) {
    const key = Buffer.from(hkdfSync('sha256', secret, '', 'molar mirror ids', 32));
    this.cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  }

  /** The pseudonym of an id; undefined for a number that is no id. */
  pseudonym(id: bigint): bigint | undefined {
    return this.walk(id, (value, bits) => this.network(value, bits));
  }

  /** The id of a pseudonym; undefined for a number that is none. */
  original(pseudonym: bigint): bigint | undefined {
    return this.walk(pseudonym, (value, bits) => this.inverse(value, bits));
  }

  /** Goes on until the value is one of those that are permuted, as the one it began with. */
  private walk(start: bigint, step: (value: bigint, bits: number) => bigint): bigint | undefined {
    if (start < 1n || start >= END) return undefined;
    const [first, bits] = start < EXACT ? [1n, 53] : [EXACT, 63];
    let value = start;
    do value = step(value, bits);
    while (value < first);
    return value;
  }

  private network(value: bigint, bits: number): bigint {
    let [left, right] = halves(value, bits);
    for (let round = 0; round < ROUNDS; round++) {
      const sum = BigInt.asUintN(width(bits, round), left + this.round(right, round, bits));
      [left, right] = [right, sum];
    }
    return join(left, right, bits);
  }

  private inverse(value: bigint, bits: number): bigint {
    let [left, right] = halves(value, bits);
    for (let round = ROUNDS - 1; round >= 0; round--) {
      const difference = BigInt.asUintN(width(bits, round), right - this.round(left, round, bits));
      [left, right] = [difference, left];
    }
    return join(left, right, bits);
  }

  private round(half: bigint, round: number, bits: number): bigint {
    this.block.writeUInt8(bits, 0);
    this.block.writeUInt8(round, 1);
    this.block.writeBigUInt64BE(half, 8);
    return this.cipher.update(this.block).readBigUInt64BE();
  }
}

/** Bits of the half that a round writes: the halves of an odd number of bits take turns. */
function width(bits: number, round: number): number {
  return round % 2 === 0 ? bits >> 1 : bits - (bits >> 1);
}

function halves(value: bigint, bits: number): [bigint, bigint] {
  const right = width(bits, 1);
  return [value >> BigInt(right), BigInt.asUintN(right, value)];
}

function join(left: bigint, right: bigint, bits: number): bigint {
  return (left << BigInt(width(bits, 1))) | right;
}
