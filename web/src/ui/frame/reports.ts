// What the frame reports of the marks in a mail. The mail decides what it reports, so its types are checked: a
// mail can lie about its rectangles, its looks and about where it is pressed, and about nothing else.

/** MarkRect is the place of an element with a mark, in pixels from the corner of the frame. */
export type MarkRect = { mark: number; x: number; y: number; width: number; height: number };
/** Press is a click or a double click. mark is that of the nearest element around it, -1 if none has one. */
export type Press = { mark: number; x: number; y: number; double: boolean; address?: string };

/** Look is how the text of the first element with a mark looks: properties of CSS, as React names them. */
export type Look = { mark: number; look: { [property: string]: string } };

/** Reports are what an application wants to hear of the marks in a mail. */
export type Reports = {
	/** Where the elements with marks are, after each change of it. */
	onMarks?: (rects: MarkRect[]) => void;
	/** A click, and after the second click of a double one, that. */
	onPress?: (press: Press) => void;
	/** The mark under the pointer, -1 if there is none. */
	onPoint?: (mark: number) => void;
	/** Files are dragged over it. */
	onFiles?: () => void;
	/** The mark of an element whose look is asked for, and that look. */
	lookAt?: number;
	onLook?: (look: Look) => void;
};

/** More rectangles than these are not read. */
const maxRects = 10_000;

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const isMark = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= -1;
const isObject = (value: unknown): value is { [name: string]: unknown } => typeof value === "object" && value !== null;

/** read passes a message of the frame on. */
export function read(message: { [name: string]: unknown }, to: Reports) {
	if ("rects" in message) to.onMarks?.(readRects(message.rects));
	if ("point" in message) to.onPoint?.(readPoint(message.point));
	if (message.files === true) to.onFiles?.();
	const press = readPress(message.press);
	if (press) to.onPress?.(press);
	const look = readLook(message.look);
	if (look) to.onLook?.(look);
}

/** readRects returns the rectangles in a message of the frame, without those that are none. */
export function readRects(value: unknown): MarkRect[] {
	if (!Array.isArray(value)) return [];
	return value.slice(0, maxRects).flatMap((rect: unknown) => {
		if (!isObject(rect)) return [];
		const { mark, x, y, width, height } = rect;
		if (!isMark(mark) || mark < 0 || !isNumber(x) || !isNumber(y) || !isNumber(width) || !isNumber(height)) return [];
		return [{ mark, x, y, width, height }];
	});
}

/** readPress returns the press in a message of the frame, undefined if there is none. */
export function readPress(value: unknown): Press | undefined {
	if (!isObject(value)) return undefined;
	const { mark, x, y, double, address } = value;
	if (!isMark(mark) || !isNumber(x) || !isNumber(y) || typeof double !== "boolean") return undefined;
	return { mark, x, y, double, ...(typeof address === "string" ? { address: address.slice(0, 10_000) } : {}) };
}

/** readPoint returns the mark in a message of the frame, -1 if there is none. */
export const readPoint = (value: unknown) => (isMark(value) ? value : -1);

const looks = new Set(
	"color direction backgroundColor fontFamily fontSize fontStyle fontWeight letterSpacing lineHeight textTransform textAlign paddingTop paddingRight paddingBottom paddingLeft".split(
		" ",
	),
);

/** readLook returns the look in a message of the frame, undefined if there is none. What could load something is not in it. */
export function readLook(value: unknown): Look | undefined {
	if (!isObject(value) || !isMark(value.mark) || !isObject(value.look)) return undefined;
	const look: Look["look"] = {};
	for (const [name, text] of Object.entries(value.look))
		if (looks.has(name) && typeof text === "string" && text.length <= 500 && !/[\\;:]|url|image/i.test(text))
			look[name] = text;
	return { mark: value.mark, look };
}
