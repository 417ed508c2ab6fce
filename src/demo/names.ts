import { type Weighted, weightedNames, weights } from './random.ts';

/** Where a household's names come from and what it speaks. All names are made up from parts or picked at random. */
export interface Origin {
  readonly last: readonly string[];
  readonly female: readonly string[];
  readonly male: readonly string[];
  readonly languages: Weighted<string>;
}

const words = (text: string): string[] => text.trim().split(/\s+/);

const STEMS = words(`
  Ash Alder Ames Bram Brock Burn Cald Carl Cham Clay Cope Cran Dal Den Drum Dun Elder Ever Fair Fen Gar Glen Grin Hal
  Harl Haw Hazel Holl Hunt Kel Kirk Lang Lark Lin Lock Marl Mel Mill Moor Nor Oak Orm Pem Quin Rad Raven Red Rock Row
  Rush Sel Shel Small Stan Stock Thorn Til Under Wake Wal West Whit Wil Win Wood Wrex Yar`);

const ENDINGS = words(`
  bourne bridge brook burn bury by combe cott croft dale den field ford gate grave ham hurst land ley low man mere more
  ridge rick shaw smith stead stock stow ton wall ward water well wick wood worth`);

const SPECIAL_LAST = words(`
  O'Brannick O'Callow O'Dwerryhouse O'Mallowey McAllern McBride-Stowe McCrory D'Arlington Smithwick Smithfield Smythe
  Smallwood-Hale Fitz-Marlow St.James Vandermeer Van-Holt De-la-Croft Le-Fenwick`);

const FEMALE = words(`
  Abigale Adelyn Ainsley Alba Alethea Amabel Annalise Anwen Arabella Astrid Aubree Avelyn Beatrix Bettina Blythe Brenna
  Briony Calla Camrin Carys Cecily Celeste Clementine Coralie Cressida Dahlia Damaris Delphine Dorothea Edwina Eilidh
  Elowen Elspeth Emmeline Esme Evangeline Fern Fiadh Flora Frances Genevra Ginevra Greta Gwendolyn Hadley Harriet Hazel
  Helena Honor Ida Imogen Ingrid Iona Isolde Ivy Jessamy Joanna Juniper Katrin Keziah Kira Lavinia Leona Linnea Lorelei
  Lottie Lucinda Mabel Maisie Marcella Margot Marigold Matilda Maude Merryn Minerva Mirabel Morwenna Nadine Nell Nerys
  Octavia Odette Olwen Ophelia Orla Petra Philippa Poppy Primrose Rhoda Rosalind Rowena Sabine Saffron Selma Seraphina
  Sidony Sorrel Sunniva Tabitha Tamsin Thea Thora Una Ursula Verity Viola Wilhelmina Winifred Yvaine Zelda Zinnia`);

const MALE = words(`
  Abner Alaric Albin Alden Alistair Ambrose Angus Anselm Archer Arlo Augustin Barnaby Bastian Benedict Bertram Brendan
  Bryn Cadoc Caleb Callum Casper Cedric Clement Colby Conrad Corwin Crispin Cyril Dashiell Denholm Desmond Dexter Dorian
  Duncan Eamon Edmund Elias Ellery Emlyn Emrys Everett Ewan Fabian Felix Fergus Finley Fletcher Florian Gareth Gideon
  Gilbert Graham Griffin Gus Hamish Harlan Hector Hollis Horace Hugo Humphrey Idris Ignatius Ivor Jago Jarvis Jasper
  Jethro Joss Julian Kelvin Kenrick Killian Lachlan Lambert Leander Leopold Lionel Lorcan Ludo Lysander Magnus Malachi
  Merrick Milo Monty Mungo Ned Niall Nigel Oberon Odhran Orson Osric Otis Percival Perrin Piers Quentin Rafferty Ralph
  Reuben Rhys Roderick Rollo Rory Rufus Rupert Seamus Silas Stellan Tavish Thaddeus Theo Tobias Torin Tristan Ulric
  Uriah Valentin Walden Warrick Wendell Wilfred Winston Wyatt Yorick Zachary Zeb`);

const GENERAL: Origin = {
  last: [...STEMS.flatMap((stem) => ENDINGS.map((ending) => stem + ending)), ...SPECIAL_LAST],
  female: [...FEMALE, 'Zoë', 'Anne-Marie', 'Chloë', 'Mary Jo', "D'Arcy"],
  male: [...MALE, 'Jean-Luc', 'Søren', 'Noël', 'J.T.'],
  languages: weightedNames({ English: 985, Other: 15 }),
};

/** Origins from text: a language, last names, women's and men's first names; the next one after a semicolon. */
function origins(text: string): Origin[] {
  return text.split(';').map((one) => {
    const [[language = ''] = [], last = [], female = [], male = []] = one.split('|').map(words);
    return { last, female, male, languages: weightedNames({ [language]: 60, English: 40 }) };
  });
}

const SPANISH = origins(`
  Spanish | Albarrán Arzúa Becerril Cañada Cárdaba Echeñique Escañuela Espíndola Galíndez Iñarra Lozoya Marchámalo
    Montañés Muñoval Núñez-Vale Ocaña Olmédez Peñalver Quiñonero Robledal Saldívar Treviñal Ugartemendi Valdepeña
    Villaseñal Zamorín
    | Alejandra Begoña Concepción Esperanza Inés Itziar Jimena Lucía Marisol Paloma Remedios Rocío Soledad Ximena Yolanda
    | Álvaro Andrés Cristóbal Emiliano Fermín Gonzalo Héctor Íñigo Joaquín Lázaro Martín Nicolás Raúl Santiago Tomás
    Ulises`);

const OTHERS = origins(`
  French | Beauchêne Béranger-Lys Delacôte Désormel Fougère Gâtinel Lefèvrais Maréchaux Peltier-Noé Sévérac Vauclère
    | Aurélie Céleste Éloïse Hélène Maëlys Océane Solène | Aurélien Étienne Gaël Jérôme Loïc Rémi Théo;
  Portuguese | Albuquerel Brandãozinho Conceiçães Fagundal Guimarel Lourençal Magalhal Queirosal Simõeira Távoral
    | Assunção Beatriz Graça Inês Luísa | Afonso Estêvão João Tomé Vítor;
  Chinese | Baolin Chengwei Fenghua Guoyang Liangmu Meizhou Shanyu Xiaolan Yunhe
    | Anmei Lihua Meilin Xiulan | Bowen Haoran Jianyu Weiming;
  Vietnamese | Đặngvinh Hoànglâm Lêthanh Nguyễnhà Phạmsơn Trầnbảo Vũlong
    | Ánh Hạnh Linh Thảo Yến | Bảo Đức Khánh Minh Quân;
  Korean | Bakseong Choehan Gangmin Hanseo Imjun Namgung-Seo Yunha
    | Haeun Jiwoo Minseo Soyeon | Dohyun Jaemin Seojun Taeyang;
  Tagalog | Bagongsilang Dalisayon Katigbakan Lakandiwan Magsinoy Panganibal
    | Amihan Dalisay Ligaya Tala | Bayani Datu Isagani Makisig;
  Russian | Берёзкина Дубровская Белоречко Morozinsky Sokolnin Vetrovsky Yelnikov
    | Алёна Злата Yevgenia Nadezhda | Богдан Gleb Stanislav Yaroslav;
  Arabic | Al-Barakati Al-Nahari Ben-Safwan El-Mazari Haddarin Qasimawi
    | Amal Layan Noura Salwa | Faris Idriss Rayan Ziyad;
  Other | Åkerlund-Ström Grünwaldt Jürgensbach Kołodziejak Östergren Þorvaldsen Šimůnkova
    | Åsa Bożena Jürgina Šárka | Bjørn Günther Łukasz Ødegard`);

/** Names of the whole practice: mostly general, some with accents, a few in other scripts. */
export const ORIGINS: Weighted<Origin> = weights([
  [GENERAL, 80],
  ...SPANISH.map((origin) => [origin, 12] as const),
  ...OTHERS.map((origin) => [origin, 8 / OTHERS.length] as const),
]);

/** What some prefer to be called. */
export const NICKNAMES = words(
  'Ace Ash Bee Birdie Buddy Cam Dee Dot Jax Jo Kit Lou Max Pip Ray Remy Sam Scout Sky Teddy',
);

/** Names of staff: plain ones, so that reports are easy to read. */
export const STAFF: Origin = { ...GENERAL, last: SPECIAL_LAST.slice(0, 6).concat(STEMS.map((stem) => `${stem}worth`)) };

// ø, đ, ł and þ have no decomposition, so that stripping accents alone would drop them.
const LETTERS: Readonly<Record<string, string>> = { ø: 'o', đ: 'd', ł: 'l', þ: 'th' };

/** A name in the letters a-z, `x` when none is left; what e-mail addresses are made of. */
export function plainLetters(name: string): string {
  const lower = name.toLowerCase();
  if (/^[a-z]+$/.test(lower)) return lower;
  const stripped = lower.normalize('NFD').replace(/[øđłþ]/g, (letter) => LETTERS[letter] ?? '');
  return stripped.replace(/[^a-z]/g, '') || 'x';
}
