/** Figures as people read them. A missing one is a dash; a minus is a real minus, so that columns of figures align. */

export const MISSING = '–';

const twoPlaces = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const upToFour = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 4 });
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

type Figure = number | null | undefined;

function formatted(value: Figure, format: (value: number) => string): string {
  return value === null || value === undefined || !Number.isFinite(value) ? MISSING : format(value).replace('-', '−');
}

/** `10,113.04` */
export function money(value: Figure): string {
  return formatted(value, (dollars) => twoPlaces.format(dollars));
}

/** `237.4512`: prices keep what they have. */
export function price(value: Figure): string {
  return formatted(value, (dollars) => upToFour.format(dollars));
}

/** `+113.04` */
export function profit(value: Figure): string {
  return formatted(value, (dollars) => signed(dollars, twoPlaces.format(dollars)));
}

/** A fraction as `+1.13 %`. */
export function change(fraction: Figure): string {
  return formatted(fraction, (value) => signed(value, `${twoPlaces.format(value * 100)} %`));
}

/** A fraction as `1.13 %`. */
export function share(fraction: Figure): string {
  return formatted(fraction, (value) => `${twoPlaces.format(value * 100)} %`);
}

/** `1.84` */
export function ratio(value: Figure): string {
  return formatted(value, (number) => twoPlaces.format(number));
}

/** `12,345` */
export function count(value: Figure): string {
  return formatted(value, (number) => whole.format(number));
}

/** Dollars that models cost: `$0.0862`, or `$12.30` from a dollar on; `$0` for those that cost nothing. */
export function cost(value: Figure): string {
  return formatted(value, (dollars) => {
    if (dollars === 0) return '$0';
    return `$${Math.abs(dollars) < 1 ? dollars.toFixed(4) : twoPlaces.format(dollars)}`;
  });
}

function signed(value: number, text: string): string {
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/** The class that colours a figure by its sign. */
export function tone(value: Figure): 'gain' | 'loss' | 'flat' {
  if (value === null || value === undefined || value === 0) return 'flat';
  return value > 0 ? 'gain' : 'loss';
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Seconds as `0.4 s`, `31 s`, `5 min 12 s`, `2 h 5 min`. */
export function duration(seconds: Figure): string {
  return formatted(seconds, (value) => {
    if (value < 10) return `${value.toFixed(1)} s`;
    const rounded = Math.round(value);
    if (rounded < MINUTE) return `${rounded} s`;
    if (rounded < HOUR) return `${Math.floor(rounded / MINUTE)} min ${rounded % MINUTE} s`;
    return `${Math.floor(rounded / HOUR)} h ${Math.floor((rounded % HOUR) / MINUTE)} min`;
  });
}

/** "1 date", "2 dates", "1,000 dates". */
export function counted(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const weekdayNames = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** A session date as `Mon 15 Sep 2025`. It is a day of the market and has no time zone. */
export function longDate(date: string): string {
  const [year, month, day] = date.split('-').map(Number);
  const weekday = weekdayNames[new Date(`${date}T00:00:00Z`).getUTCDay()];
  return weekday === undefined ? date : `${weekday} ${day} ${months[(month ?? 1) - 1]} ${year}`;
}

/** `Sep 2025` */
export function monthOf(date: string): string {
  return `${months[Number(date.slice(5, 7)) - 1]} ${date.slice(0, 4)}`;
}
