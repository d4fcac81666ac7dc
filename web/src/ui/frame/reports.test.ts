import { equals, type Tests } from "../../base/testing";
import { read, readLook, readPoint, readPress, readRects } from "./reports";

const tests: Tests = {
	"what is no rectangle is not read"() {
		const rect = { mark: 3, x: 1, y: 2.5, width: 3, height: 4 };
		equals(readRects([rect, { ...rect, extra: true }]), [rect, rect], "rectangles");
		const bad = [null, 5, [], {}, { ...rect, mark: -1 }, { ...rect, mark: 1.5 }, { ...rect, x: "1" }];
		equals(
			readRects([...bad, { ...rect, y: NaN }, { ...rect, width: Infinity }, { ...rect, height: undefined }]),
			[],
			"none",
		);
		for (const value of [undefined, null, "rects", { length: 1, 0: rect }]) equals(readRects(value), [], String(value));
	},

	"what is no press is not read"() {
		const press = { mark: -1, x: 1, y: 2, double: false };
		equals(readPress(press), press, "a press");
		equals(readPress({ ...press, address: "https://example.org/" })?.address, "https://example.org/", "of a link");
		equals(readPress({ ...press, address: {} }), press, "of no link");
		for (const value of [
			undefined,
			null,
			5,
			[],
			{ ...press, mark: "1" },
			{ ...press, double: 1 },
			{ ...press, y: null },
		])
			equals(readPress(value), undefined, JSON.stringify(value));
		for (const value of ["1", null, NaN, -2, 0.5]) equals(readPoint(value), -1, String(value));
		equals(readPoint(5), 5, "a point");
	},

	"a look has what text looks like, and loads nothing"() {
		const look = { color: "rgb(1, 2, 3)", fontFamily: '"Some Font", serif', fontSize: "16px" };
		equals(readLook({ mark: 3, look })?.look, look, "a look");
		const bad = {
			color: "url(https://x.test/a)",
			fontSize: 5,
			backgroundColor: "a;b",
			position: "fixed",
			fontFamily: "\\75rl(x)",
		};
		equals(readLook({ mark: 3, look: bad }), { mark: 3, look: {} }, "what is no look");
		for (const value of [undefined, null, 5, {}, { mark: "3", look }, { mark: 3 }])
			equals(readLook(value), undefined, JSON.stringify(value));
	},

	"a message tells what is in it"() {
		const heard: unknown[] = [];
		const to = {
			onMarks: (value: unknown) => heard.push(value),
			onPress: (value: unknown) => heard.push(value),
			onPoint: (value: unknown) => heard.push(value),
			onFiles: () => heard.push("files"),
		};
		for (const message of [{}, { press: 5 }, { rects: 5 }, { point: 3 }, { files: 1 }, { files: true }])
			read(message, to);
		read({ point: 3, files: true }, {});
		equals(heard, [[], 3, "files"], "messages");
	},
};

export default tests;
