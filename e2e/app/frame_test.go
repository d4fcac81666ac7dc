package app

// expectMarksReported shows a mail with marks in the frame of a dialog, as a page that edits mails does, and
// checks what the frame reports.
func (p appPage) expectMarksReported() {
	p.T.Helper()
	p.WaitFor(`document.querySelector("[role=dialog] iframe").style.blockSize !== "400px"`) // it has told its height
	p.Evaluate(`(() => {
		window.reports = [];
		const frame = document.querySelector("[role=dialog] iframe").contentWindow;
		addEventListener("message", e => e.source === frame && e.data.kind === "report" && reports.push(e.data));
		const html = '<body class="pb-mark-1" style="margin:0"><div class="a pb-mark-20" style="height:200px"><a href="https://example.org/x" class="pb-mark-30" style="display:block;height:50px">x</a></div>' +
			'<p class="pb-mark-40" style="display:none">hidden</p><p class="pb-mark-50x">none</p><i class="xpb-mark-60 pb-mark-1.5 pb-mark- pb-mark--1"></i></body>';
		frame.postMessage({kind: "show", html, dark: false, forced: false, images: true, opens: false, marks: true}, "*");
	})()`)
	p.WaitFor(`reports.some(r => r.rects?.map(r => r.mark).join() === "1,20,30" && r.rects[1].height === 200 && r.rects[2].y === 0)`)
}
