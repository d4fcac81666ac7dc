package broadcast

// RescheduleWithin is Reschedule with so much time for the plan.
var RescheduleWithin = reschedule
