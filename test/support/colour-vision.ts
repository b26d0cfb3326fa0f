/** How colours look to readers, with and without each kind of colour blindness. */

export type Rgb = readonly [red: number, green: number, blue: number];
type Matrix = readonly [Rgb, Rgb, Rgb];

/**
 * What is seen in place of a colour, in linear light: Machado, Oliveira and Fernandes, "A
 * Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE Transactions on
 * Visualization and Computer Graphics 15 (2009), at severity 1, where one kind of cone is missing.
 */
export const visions: Readonly<Record<string, Matrix>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** The linear light of `#rgb` or `#rrggbb`, each part from 0 to 1. */
export function linearOf(colour: string): Rgb {
  const digits = colour.length === 4 ? colour.replaceAll(/[^#]/g, '$&$&') : colour;
  const part = (place: number) => {
    const value = parseInt(digits.slice(place, place + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(1), part(3), part(5)];
}

const dot = (one: Rgb, other: Rgb) => one[0] * other[0] + one[1] * other[1] + one[2] * other[2];
const times = ([first, second, third]: Matrix, colour: Rgb): Rgb => [
  dot(first, colour),
  dot(second, colour),
  dot(third, colour),
];

/** A colour as it is seen, within what a screen shows. */
export function seen(colour: Rgb, vision: string): Rgb {
  const [red, green, blue] = times(visions[vision] as Matrix, colour);
  const within = (part: number) => Math.min(1, Math.max(0, part));
  return [within(red), within(green), within(blue)];
}

const TO_XYZ: Matrix = [
  [0.4124564, 0.3575761, 0.1804375],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339, 0.119192, 0.9503041],
];
const D65: Rgb = [0.95047, 1, 1.08883];

type Lab = readonly [lightness: number, a: number, b: number];

/** CIELAB of linear light. */
export function labOf(colour: Rgb): Lab {
  const light = times(TO_XYZ, colour);
  const root = (axis: 0 | 1 | 2) => {
    const share = light[axis] / D65[axis];
    return share > 216 / 24389 ? Math.cbrt(share) : ((24389 / 27) * share + 16) / 116;
  };
  const [x, y, z] = [root(0), root(1), root(2)];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** The contrast of two colours in linear light, from 1 to 21, as WCAG 2 defines it. */
export function contrast(one: Rgb, other: Rgb): number {
  const light = [one, other].map((colour) => dot(TO_XYZ[1], colour) + 0.05);
  return Math.max(...light) / Math.min(...light);
}

/**
 * The difference of two colours: CIEDE2000, as Sharma, Wu and Dalal write it in Color Research and
 * Application 30 (2005); their pairs are in the test.
 */
export function difference([l1, a1, b1]: Lab, [l2, a2, b2]: Lab): number {
  const [sin, cos] = [Math.sin, Math.cos].map(
    (f) => (degrees: number) => f((degrees * Math.PI) / 180),
  ) as [(degrees: number) => number, (degrees: number) => number];
  const weight = (chroma: number) => Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7));
  const stretch = 1.5 - weight((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2) / 2;
  const [c1, c2] = [Math.hypot(a1 * stretch, b1), Math.hypot(a2 * stretch, b2)];
  const hue = (a: number, b: number) => (Math.atan2(b, a * stretch) * 180) / Math.PI;
  const [h1, h2] = [(hue(a1, b1) + 360) % 360, (hue(a2, b2) + 360) % 360];
  const isGrey = c1 * c2 === 0;
  const turn = isGrey ? 0 : ((h2 - h1 + 540) % 360) - 180;
  const far = Math.abs(h1 - h2) > 180;
  const meanHue = isGrey ? h1 + h2 : (h1 + h2 + (far ? (h1 + h2 < 360 ? 360 : -360) : 0)) / 2;
  const [meanL, meanC] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const t =
    1 -
    0.17 * cos(meanHue - 30) +
    0.24 * cos(2 * meanHue) +
    0.32 * cos(3 * meanHue + 6) -
    0.2 * cos(4 * meanHue - 63);
  const [sl, sc, sh] = [
    1 + (0.015 * (meanL - 50) ** 2) / Math.sqrt(20 + (meanL - 50) ** 2),
    1 + 0.045 * meanC,
    1 + 0.015 * meanC * t,
  ];
  const rotation = -sin(60 * Math.exp(-(((meanHue - 275) / 25) ** 2))) * 2 * weight(meanC);
  const [dl, dc, dh] = [
    (l2 - l1) / sl,
    (c2 - c1) / sc,
    (2 * Math.sqrt(c1 * c2) * sin(turn / 2)) / sh,
  ];
  return Math.sqrt(dl ** 2 + dc ** 2 + dh ** 2 + rotation * dc * dh);
}
